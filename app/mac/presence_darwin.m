#import <Foundation/Foundation.h>
#import <LocalAuthentication/LocalAuthentication.h>

#include "presence_darwin.h"

static const int64_t patience = 120; // seconds

// refusal is the code of an error, also where macOS gives none.
static int refusal(NSError *error) {
	return error != nil && error.code < 0 ? (int)error.code : LAErrorAppCancel;
}

int CSAuthenticate(int policy, const char *reason) {
	@autoreleasepool {
		LAContext *context = [LAContext new];
		NSError *error = nil;
		__block int code = LAErrorAppCancel;
		if (![context canEvaluatePolicy:(LAPolicy)policy error:&error])
			return refusal(error);
		if (policy == LAPolicyDeviceOwnerAuthenticationWithBiometrics)
			context.localizedFallbackTitle = @""; // no button for what was not chosen
		dispatch_semaphore_t told = dispatch_semaphore_create(0);
		[context evaluatePolicy:(LAPolicy)policy
		        localizedReason:@(reason)
		                  reply:^(BOOL done, NSError *why) {
			                  code = done ? 1 : refusal(why);
			                  dispatch_semaphore_signal(told);
		                  }];
		if (dispatch_semaphore_wait(told, dispatch_time(DISPATCH_TIME_NOW, patience * (int64_t)NSEC_PER_SEC)) != 0) {
			[context invalidate];
			return LAErrorAppCancel;
		}
		return code;
	}
}
