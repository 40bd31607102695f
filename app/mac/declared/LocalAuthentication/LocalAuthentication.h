#pragma once
#include <Foundation/Foundation.h>

typedef NS_ENUM(NSInteger, LAPolicy) { LAPolicyDeviceOwnerAuthenticationWithBiometrics = 1, LAPolicyDeviceOwnerAuthentication = 2 };
typedef NS_ENUM(NSInteger, LAError) { LAErrorAppCancel = -9 };

@interface LAContext : NSObject
@property(copy) NSString *localizedFallbackTitle;
- (BOOL)canEvaluatePolicy:(LAPolicy)policy error:(NSError **)error;
- (void)evaluatePolicy:(LAPolicy)policy localizedReason:(NSString *)reason reply:(void (^)(BOOL success, NSError *error))reply;
- (void)invalidate;
@end
