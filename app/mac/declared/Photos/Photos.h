#pragma once
#include <Foundation/Foundation.h>

SINCE(10.13) typedef NS_ENUM(NSInteger, PHAccessLevel) { PHAccessLevelAddOnly = 1, PHAccessLevelReadWrite = 2 } SINCE(10.13);
SINCE(10.13) typedef NS_ENUM(NSInteger, PHAuthorizationStatus) { PHAuthorizationStatusNotDetermined } SINCE(10.13);

SINCE(10.13) @interface PHPhotoLibrary : NSObject
+ (PHAuthorizationStatus)authorizationStatusForAccessLevel:(PHAccessLevel)accessLevel SINCE(11.0);
+ (void)requestAuthorizationForAccessLevel:(PHAccessLevel)accessLevel handler:(void (^)(PHAuthorizationStatus status))handler SINCE(11.0);
@end
