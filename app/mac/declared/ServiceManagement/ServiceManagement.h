#pragma once
#include <Foundation/Foundation.h>

typedef NS_ENUM(NSInteger, SMAppServiceStatus) { SMAppServiceStatusNotRegistered };

SINCE(13.0) @interface SMAppService : NSObject
@property(class, readonly) SMAppService *mainAppService;
@property(readonly) SMAppServiceStatus status;
- (BOOL)registerAndReturnError:(NSError **)error;
- (BOOL)unregisterAndReturnError:(NSError **)error;
@end
