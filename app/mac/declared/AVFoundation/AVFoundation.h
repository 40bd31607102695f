#pragma once
#include <Foundation/Foundation.h>

typedef NSString *AVMediaType;
extern AVMediaType const AVMediaTypeAudio, AVMediaTypeVideo;
typedef NS_ENUM(NSInteger, AVAuthorizationStatus) { AVAuthorizationStatusNotDetermined };

@interface AVCaptureDevice : NSObject
+ (AVAuthorizationStatus)authorizationStatusForMediaType:(AVMediaType)mediaType;
+ (void)requestAccessForMediaType:(AVMediaType)mediaType completionHandler:(void (^)(BOOL granted))handler;
@end
