#pragma once
#include <Foundation/Foundation.h>

typedef NS_ENUM(NSInteger, UNAuthorizationStatus) { UNAuthorizationStatusNotDetermined };
typedef NS_OPTIONS(NSUInteger, UNAuthorizationOptions) { UNAuthorizationOptionBadge = 1, UNAuthorizationOptionSound = 2, UNAuthorizationOptionAlert = 4 };

@interface UNNotificationSettings : NSObject
@property(readonly) UNAuthorizationStatus authorizationStatus;
@end

typedef NS_OPTIONS(NSUInteger, UNNotificationPresentationOptions) { UNNotificationPresentationOptionBanner = 1 << 4 };
typedef NS_OPTIONS(NSUInteger, UNNotificationActionOptions) { UNNotificationActionOptionForeground = 1 << 2 };
typedef NS_OPTIONS(NSUInteger, UNNotificationCategoryOptions) { UNNotificationCategoryOptionNone = 0 };

extern NSString *const UNNotificationDismissActionIdentifier;

@interface UNNotificationContent : NSObject
@end

@interface UNMutableNotificationContent : UNNotificationContent
@property(copy) NSString *title, *body, *categoryIdentifier;
@end

@interface UNNotificationTrigger : NSObject
@end

@interface UNNotificationRequest : NSObject
+ (instancetype)requestWithIdentifier:(NSString *)identifier content:(UNNotificationContent *)content trigger:(UNNotificationTrigger *)trigger;
@property(readonly) NSString *identifier;
@end

@interface UNNotification : NSObject
@property(readonly) UNNotificationRequest *request;
@end

@interface UNNotificationResponse : NSObject
@property(readonly) UNNotification *notification;
@property(readonly) NSString *actionIdentifier;
@end

@interface UNNotificationAction : NSObject
+ (instancetype)actionWithIdentifier:(NSString *)identifier title:(NSString *)title options:(UNNotificationActionOptions)options;
@end

@interface UNNotificationCategory : NSObject
+ (instancetype)categoryWithIdentifier:(NSString *)identifier
                               actions:(NSArray<UNNotificationAction *> *)actions
                     intentIdentifiers:(NSArray<NSString *> *)intents
                               options:(UNNotificationCategoryOptions)options;
@end

@class UNUserNotificationCenter;

@protocol UNUserNotificationCenterDelegate
@optional
- (void)userNotificationCenter:(UNUserNotificationCenter *)center
       willPresentNotification:(UNNotification *)notification
         withCompletionHandler:(void (^)(UNNotificationPresentationOptions options))done;
- (void)userNotificationCenter:(UNUserNotificationCenter *)center
didReceiveNotificationResponse:(UNNotificationResponse *)response
         withCompletionHandler:(void (^)(void))done;
@end

@interface UNUserNotificationCenter : NSObject
@property(weak) id<UNUserNotificationCenterDelegate> delegate;
- (void)setNotificationCategories:(NSSet<UNNotificationCategory *> *)categories;
- (void)addNotificationRequest:(UNNotificationRequest *)request withCompletionHandler:(void (^)(NSError *error))handler;
- (void)removeDeliveredNotificationsWithIdentifiers:(NSArray<NSString *> *)identifiers;
@property(class, readonly) UNUserNotificationCenter *currentNotificationCenter;
- (void)getNotificationSettingsWithCompletionHandler:(void (^)(UNNotificationSettings *settings))handler;
- (void)requestAuthorizationWithOptions:(UNAuthorizationOptions)options completionHandler:(void (^)(BOOL granted, NSError *error))handler;
@end
