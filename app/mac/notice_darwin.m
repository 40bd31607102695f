#import <Carbon/Carbon.h>
#import <Foundation/Foundation.h>
#import <UserNotifications/UserNotifications.h>

#include "notice_darwin.h"
#include "text_darwin.h"

// In Go.
extern void CSReviewed(char *name);
extern void CSSummoned(void);
extern void CSReopened(void);
extern void CSQuit(void);

@interface CSNotices : NSObject <UNUserNotificationCenterDelegate>
@end

@implementation CSNotices
- (void)userNotificationCenter:(UNUserNotificationCenter *)center
       willPresentNotification:(UNNotification *)notification
         withCompletionHandler:(void (^)(UNNotificationPresentationOptions options))done {
	done(UNNotificationPresentationOptionBanner);
}

- (void)userNotificationCenter:(UNUserNotificationCenter *)center
didReceiveNotificationResponse:(UNNotificationResponse *)response
         withCompletionHandler:(void (^)(void))done {
	if (![response.actionIdentifier isEqualToString:UNNotificationDismissActionIdentifier])
		CSReviewed((char *)response.notification.request.identifier.UTF8String);
	done();
}
@end

// center has one button for all notifications. It is nil for a program without a
// bundle, which macOS would end for asking.
static UNUserNotificationCenter *center(void) {
	static CSNotices *notices;
	static dispatch_once_t once;
	if (NSBundle.mainBundle.bundleIdentifier == nil)
		return nil;
	UNUserNotificationCenter *one = UNUserNotificationCenter.currentNotificationCenter;
	dispatch_once(&once, ^{
		notices = [CSNotices new];
		one.delegate = notices;
		UNNotificationAction *review = [UNNotificationAction actionWithIdentifier:@"review" title:@"Review" options:UNNotificationActionOptionForeground];
		[one setNotificationCategories:[NSSet setWithObject:[UNNotificationCategory categoryWithIdentifier:@"question"
		                                                                                           actions:@[ review ]
		                                                                                 intentIdentifiers:@[]
		                                                                                           options:UNNotificationCategoryOptionNone]]];
	});
	return one;
}

void CSHearNotices(void) {
	@autoreleasepool {
		[center() removeAllDeliveredNotifications];
	}
}

void CSNotify(const char *name, const char *title, const char *body) {
	@autoreleasepool {
		UNMutableNotificationContent *content = [UNMutableNotificationContent new];
		content.title = text(title);
		content.body = text(body);
		content.categoryIdentifier = @"question";
		UNNotificationRequest *request = [UNNotificationRequest requestWithIdentifier:text(name) content:content trigger:nil];
		UNUserNotificationCenter *one = center();
		// The person is asked whether they want any when there is one to show.
		[one requestAuthorizationWithOptions:UNAuthorizationOptionAlert | UNAuthorizationOptionSound
		                   completionHandler:^(BOOL granted, NSError *error) {
			                   if (granted)
				                   [one addNotificationRequest:request withCompletionHandler:nil];
		                   }];
	}
}

void CSUnnotify(const char *name) {
	@autoreleasepool {
		[center() removeDeliveredNotificationsWithIdentifiers:@[ text(name) ]];
	}
}

static OSStatus pressed(EventHandlerCallRef next, EventRef event, void *data) {
	CSSummoned();
	return noErr;
}

void CSTakeShortcut(void) {
	dispatch_async(dispatch_get_main_queue(), ^{
		static EventHotKeyRef shortcut;
		const EventTypeSpec press = {kEventClassKeyboard, kEventHotKeyPressed};
		const EventHotKeyID identifier = {'CtSg', 1};
		if (InstallApplicationEventHandler(&pressed, 1, &press, NULL, NULL) == noErr)
			RegisterEventHotKey(kVK_ANSI_C, controlKey | optionKey | cmdKey, identifier, GetApplicationEventTarget(), 0, &shortcut);
	});
}

@interface CSEventHandler : NSObject
@end

@implementation CSEventHandler
- (void)reopen:(NSAppleEventDescriptor *)event reply:(NSAppleEventDescriptor *)reply {
	CSReopened();
}

- (void)quit:(NSAppleEventDescriptor *)event reply:(NSAppleEventDescriptor *)reply {
	CSQuit();
}
@end

void CSHearEvents(void) {
	dispatch_async(dispatch_get_main_queue(), ^{
		static CSEventHandler *handler;
		handler = [CSEventHandler new];
		NSAppleEventManager *events = [NSAppleEventManager sharedAppleEventManager];
		[events setEventHandler:handler andSelector:@selector(reopen:reply:) forEventClass:kCoreEventClass andEventID:kAEReopenApplication];
		[events setEventHandler:handler andSelector:@selector(quit:reply:) forEventClass:kCoreEventClass andEventID:kAEQuitApplication];
	});
}
