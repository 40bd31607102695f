#pragma once
#include <Foundation/Foundation.h>

typedef NS_ENUM(NSInteger, CNEntityType) { CNEntityTypeContacts };
typedef NS_ENUM(NSInteger, CNAuthorizationStatus) { CNAuthorizationStatusNotDetermined };

@interface CNContactStore : NSObject
+ (CNAuthorizationStatus)authorizationStatusForEntityType:(CNEntityType)entityType;
- (void)requestAccessForEntityType:(CNEntityType)entityType completionHandler:(void (^)(BOOL granted, NSError *error))handler;
@end
