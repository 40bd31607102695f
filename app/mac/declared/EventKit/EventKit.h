#pragma once
#include <Foundation/Foundation.h>

typedef NS_ENUM(NSUInteger, EKEntityType) { EKEntityTypeEvent, EKEntityTypeReminder };
typedef NS_ENUM(NSInteger, EKAuthorizationStatus) { EKAuthorizationStatusNotDetermined };

@interface EKEventStore : NSObject
+ (EKAuthorizationStatus)authorizationStatusForEntityType:(EKEntityType)entityType;
- (void)requestAccessToEntityType:(EKEntityType)entityType completion:(void (^)(BOOL granted, NSError *error))completion;
- (void)requestFullAccessToEventsWithCompletion:(void (^)(BOOL granted, NSError *error))completion;
- (void)requestFullAccessToRemindersWithCompletion:(void (^)(BOOL granted, NSError *error))completion;
@end
