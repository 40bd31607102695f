#pragma once
#include <Foundation/Foundation.h>

typedef NS_ENUM(NSInteger, UNAuthorizationStatus) { UNAuthorizationStatusNotDetermined } SINCE(10.14);
typedef NS_OPTIONS(NSUInteger, UNAuthorizationOptions) { UNAuthorizationOptionBadge = 1, UNAuthorizationOptionSound = 2, UNAuthorizationOptionAlert = 4 } SINCE(10.14);

SINCE(10.14) @interface UNNotificationSettings : NSObject
@property(readonly) UNAuthorizationStatus authorizationStatus;
@end

typedef NS_OPTIONS(NSUInteger, UNNotificationPresentationOptions) { UNNotificationPresentationOptionBanner SINCE(11.0) = 1 << 4 } SINCE(10.14);
typedef NS_OPTIONS(NSUInteger, UNNotificationActionOptions) { UNNotificationActionOptionForeground = 1 << 2 } SINCE(10.14);
typedef NS_OPTIONS(NSUInteger, UNNotificationCategoryOptions) { UNNotificationCategoryOptionCustomDismissAction = 1 << 0 } SINCE(10.14);
static const UNNotificationCategoryOptions UNNotificationCategoryOptionNone SINCE(10.14) = 0;

extern NSString *const UNNotificationDismissActionIdentifier SINCE(10.14);

SINCE(10.14) @interface UNNotificationContent : NSObject
@end

SINCE(10.14) @interface UNMutableNotificationContent : UNNotificationContent
@property(copy) NSString *title, *body, *categoryIdentifier;
@end

SINCE(10.14) @interface UNNotificationTrigger : NSObject
@end

SINCE(10.14) @interface UNNotificationRequest : NSObject
+ (instancetype)requestWithIdentifier:(NSString *)identifier content:(UNNotificationContent *)content trigger:(UNNotificationTrigger *)trigger;
@property(readonly) NSString *identifier;
@end

SINCE(10.14) @interface UNNotification : NSObject
@property(readonly) UNNotificationRequest *request;
@end

SINCE(10.14) @interface UNNotificationResponse : NSObject
@property(readonly) UNNotification *notification;
@property(readonly) NSString *actionIdentifier;
@end

SINCE(10.14) @interface UNNotificationAction : NSObject
+ (instancetype)actionWithIdentifier:(NSString *)identifier title:(NSString *)title options:(UNNotificationActionOptions)options;
@end

SINCE(10.14) @interface UNNotificationCategory : NSObject
+ (instancetype)categoryWithIdentifier:(NSString *)identifier
                               actions:(NSArray<UNNotificationAction *> *)actions
                     intentIdentifiers:(NSArray<NSString *> *)intents
                               options:(UNNotificationCategoryOptions)options;
@end

@class UNUserNotificationCenter;

SINCE(10.14) @protocol UNUserNotificationCenterDelegate
@optional
- (void)userNotificationCenter:(UNUserNotificationCenter *)center
       willPresentNotification:(UNNotification *)notification
         withCompletionHandler:(void (^)(UNNotificationPresentationOptions options))done;
- (void)userNotificationCenter:(UNUserNotificationCenter *)center
didReceiveNotificationResponse:(UNNotificationResponse *)response
         withCompletionHandler:(void (^)(void))done;
@end

SINCE(10.14) @interface UNUserNotificationCenter : NSObject
@property(weak) id<UNUserNotificationCenterDelegate> delegate;
- (void)setNotificationCategories:(NSSet<UNNotificationCategory *> *)categories;
- (void)addNotificationRequest:(UNNotificationRequest *)request withCompletionHandler:(void (^)(NSError *error))handler;
- (void)removeAllDeliveredNotifications;
- (void)removeDeliveredNotificationsWithIdentifiers:(NSArray<NSString *> *)identifiers;
+ (UNUserNotificationCenter *)currentNotificationCenter;
- (void)getNotificationSettingsWithCompletionHandler:(void (^)(UNNotificationSettings *settings))handler;
- (void)requestAuthorizationWithOptions:(UNAuthorizationOptions)options completionHandler:(void (^)(BOOL granted, NSError *error))handler;
@end
