#pragma once
#include <Foundation/Foundation.h>

typedef NS_ENUM(NSInteger, LAPolicy) { LAPolicyDeviceOwnerAuthenticationWithBiometrics SINCE(10.12.2) = 1, LAPolicyDeviceOwnerAuthentication SINCE(10.11) = 2 };
typedef NS_ENUM(NSInteger, LAError) { LAErrorAppCancel SINCE(10.11) = -9 };

SINCE(10.10) @interface LAContext : NSObject
@property(copy) NSString *localizedFallbackTitle;
- (BOOL)canEvaluatePolicy:(LAPolicy)policy error:(NSError **)error;
- (void)evaluatePolicy:(LAPolicy)policy localizedReason:(NSString *)reason reply:(void (^)(BOOL success, NSError *error))reply;
- (void)invalidate SINCE(10.11);
@end
