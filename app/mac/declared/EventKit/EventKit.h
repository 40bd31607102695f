#pragma once
#include <Foundation/Foundation.h>

typedef NS_ENUM(NSUInteger, EKEntityType) { EKEntityTypeEvent, EKEntityTypeReminder };
typedef NS_ENUM(NSInteger, EKAuthorizationStatus) { EKAuthorizationStatusNotDetermined } SINCE(10.9);

SINCE(10.8) @interface EKEventStore : NSObject
+ (EKAuthorizationStatus)authorizationStatusForEntityType:(EKEntityType)entityType SINCE(10.9);
- (void)requestAccessToEntityType:(EKEntityType)entityType completion:(void (^)(BOOL granted, NSError *error))completion FROM_TO(10.9, 14.0);
- (void)requestFullAccessToEventsWithCompletion:(void (^)(BOOL granted, NSError *error))completion SINCE(14.0);
- (void)requestFullAccessToRemindersWithCompletion:(void (^)(BOOL granted, NSError *error))completion SINCE(14.0);
@end
