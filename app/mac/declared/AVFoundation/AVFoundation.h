#pragma once
#include <Foundation/Foundation.h>

typedef NSString *AVMediaType;
extern AVMediaType const AVMediaTypeAudio SINCE(10.7), AVMediaTypeVideo SINCE(10.7);
typedef NS_ENUM(NSInteger, AVAuthorizationStatus) { AVAuthorizationStatusNotDetermined } SINCE(10.14);

SINCE(10.7) @interface AVCaptureDevice : NSObject
+ (AVAuthorizationStatus)authorizationStatusForMediaType:(AVMediaType)mediaType SINCE(10.14);
+ (void)requestAccessForMediaType:(AVMediaType)mediaType completionHandler:(void (^)(BOOL granted))handler SINCE(10.14);
@end
