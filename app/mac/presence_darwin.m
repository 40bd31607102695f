#import <Foundation/Foundation.h>
#import <LocalAuthentication/LocalAuthentication.h>

#include "presence_darwin.h"

static const int64_t patience = 120; // seconds

int CSAuthenticate(int policy, const char *reason) {
	@autoreleasepool {
		LAContext *context = [LAContext new];
		NSError *error = nil;
		__block int code = LAErrorAppCancel;
		if (![context canEvaluatePolicy:(LAPolicy)policy error:&error])
			return (int)error.code;
		if (policy == LAPolicyDeviceOwnerAuthenticationWithBiometrics)
			context.localizedFallbackTitle = @""; // no button for what was not chosen
		dispatch_semaphore_t told = dispatch_semaphore_create(0);
		[context evaluatePolicy:(LAPolicy)policy
		        localizedReason:@(reason)
		                  reply:^(BOOL done, NSError *why) {
			                  code = done ? 0 : (int)why.code;
			                  dispatch_semaphore_signal(told);
		                  }];
		if (dispatch_semaphore_wait(told, dispatch_time(DISPATCH_TIME_NOW, patience * (int64_t)NSEC_PER_SEC)) != 0) {
			[context invalidate];
			return LAErrorAppCancel;
		}
		return code;
	}
}
