#pragma once
#include <Foundation/Foundation.h>

typedef NS_ENUM(NSInteger, CNEntityType) { CNEntityTypeContacts } SINCE(10.11);
typedef NS_ENUM(NSInteger, CNAuthorizationStatus) { CNAuthorizationStatusNotDetermined } SINCE(10.11);

SINCE(10.11) @interface CNContactStore : NSObject
+ (CNAuthorizationStatus)authorizationStatusForEntityType:(CNEntityType)entityType;
- (void)requestAccessForEntityType:(CNEntityType)entityType completionHandler:(void (^)(BOOL granted, NSError *error))handler;
@end
