#import <AVFoundation/AVFoundation.h>
#import <ApplicationServices/ApplicationServices.h>
#import <Contacts/Contacts.h>
#import <EventKit/EventKit.h>
#import <Foundation/Foundation.h>
#import <Photos/Photos.h>
#import <UserNotifications/UserNotifications.h>

#include "permissions_darwin.h"

// automation asks about Finder, which always runs.
static int automation(Boolean ask) {
	NSAppleEventDescriptor *finder = [NSAppleEventDescriptor descriptorWithBundleIdentifier:@"com.apple.finder"];
	return AEDeterminePermissionToAutomateTarget(finder.aeDesc, typeWildCard, typeWildCard, ask);
}

// notifications waits for the answer, which comes on another queue. macOS ends a
// program without a bundle that asks.
static int notifications(void) {
	__block int code = -1;
	if (NSBundle.mainBundle.bundleIdentifier == nil)
		return code;
	dispatch_semaphore_t told = dispatch_semaphore_create(0);
	[UNUserNotificationCenter.currentNotificationCenter getNotificationSettingsWithCompletionHandler:^(UNNotificationSettings *settings) {
		code = (int)settings.authorizationStatus;
		dispatch_semaphore_signal(told);
	}];
	dispatch_semaphore_wait(told, dispatch_time(DISPATCH_TIME_NOW, NSEC_PER_SEC));
	return code;
}

int CSPermissionState(int permission) {
	@autoreleasepool {
		switch (permission) {
		case CSAccessibility:
			return AXIsProcessTrusted();
		case CSScreenRecording:
			return CGPreflightScreenCaptureAccess();
		case CSInputMonitoring:
			return CGPreflightListenEventAccess();
		case CSPostEvents:
			return CGPreflightPostEventAccess();
		case CSAutomation:
			return automation(false);
		case CSNotifications:
			return notifications();
		case CSMicrophone:
			return (int)[AVCaptureDevice authorizationStatusForMediaType:AVMediaTypeAudio];
		case CSCamera:
			return (int)[AVCaptureDevice authorizationStatusForMediaType:AVMediaTypeVideo];
		case CSContacts:
			return (int)[CNContactStore authorizationStatusForEntityType:CNEntityTypeContacts];
		case CSCalendars:
			return (int)[EKEventStore authorizationStatusForEntityType:EKEntityTypeEvent];
		case CSReminders:
			return (int)[EKEventStore authorizationStatusForEntityType:EKEntityTypeReminder];
		case CSPhotos:
			return (int)[PHPhotoLibrary authorizationStatusForAccessLevel:PHAccessLevelReadWrite];
		}
		return -1;
	}
}

void CSPermissionRequest(int permission) {
	@autoreleasepool {
		switch (permission) {
		case CSAccessibility:
			AXIsProcessTrustedWithOptions((__bridge CFDictionaryRef) @{(__bridge NSString *)kAXTrustedCheckOptionPrompt : @YES});
			break;
		case CSScreenRecording:
			CGRequestScreenCaptureAccess();
			break;
		case CSInputMonitoring:
			CGRequestListenEventAccess();
			break;
		case CSPostEvents:
			CGRequestPostEventAccess();
			break;
		case CSAutomation:
			dispatch_async(dispatch_get_global_queue(QOS_CLASS_USER_INITIATED, 0), ^{
				automation(true);
			});
			break;
		case CSNotifications:
			if (NSBundle.mainBundle.bundleIdentifier == nil)
				break;
			[UNUserNotificationCenter.currentNotificationCenter requestAuthorizationWithOptions:UNAuthorizationOptionAlert | UNAuthorizationOptionSound
			                                                                  completionHandler:^(BOOL granted, NSError *error) {}];
			break;
		case CSMicrophone:
			[AVCaptureDevice requestAccessForMediaType:AVMediaTypeAudio completionHandler:^(BOOL granted) {}];
			break;
		case CSCamera:
			[AVCaptureDevice requestAccessForMediaType:AVMediaTypeVideo completionHandler:^(BOOL granted) {}];
			break;
		case CSContacts:
			[[CNContactStore new] requestAccessForEntityType:CNEntityTypeContacts completionHandler:^(BOOL granted, NSError *error) {}];
			break;
		case CSCalendars:
			if (@available(macOS 14, *))
				[[EKEventStore new] requestFullAccessToEventsWithCompletion:^(BOOL granted, NSError *error) {}];
			else
				[[EKEventStore new] requestAccessToEntityType:EKEntityTypeEvent completion:^(BOOL granted, NSError *error) {}];
			break;
		case CSReminders:
			if (@available(macOS 14, *))
				[[EKEventStore new] requestFullAccessToRemindersWithCompletion:^(BOOL granted, NSError *error) {}];
			else
				[[EKEventStore new] requestAccessToEntityType:EKEntityTypeReminder completion:^(BOOL granted, NSError *error) {}];
			break;
		case CSPhotos:
			[PHPhotoLibrary requestAuthorizationForAccessLevel:PHAccessLevelReadWrite handler:^(PHAuthorizationStatus status) {}];
			break;
		}
	}
}
