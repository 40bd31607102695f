#pragma once
#include <Foundation/Foundation.h>

typedef NS_ENUM(NSInteger, PHAccessLevel) { PHAccessLevelAddOnly = 1, PHAccessLevelReadWrite = 2 };
typedef NS_ENUM(NSInteger, PHAuthorizationStatus) { PHAuthorizationStatusNotDetermined };

@interface PHPhotoLibrary : NSObject
+ (PHAuthorizationStatus)authorizationStatusForAccessLevel:(PHAccessLevel)accessLevel;
+ (void)requestAuthorizationForAccessLevel:(PHAccessLevel)accessLevel handler:(void (^)(PHAuthorizationStatus status))handler;
@end
