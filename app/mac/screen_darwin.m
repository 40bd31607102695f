#import <AppKit/AppKit.h>
#import <CoreGraphics/CoreGraphics.h>

#include "screen_darwin.h"

extern void CSScreenHeard(int what); // in Go

int CSScreenState(void) {
	@autoreleasepool {
		NSDictionary *session = (__bridge_transfer NSDictionary *)CGSessionCopyCurrentDictionary();
		int locked = [session[@"CGSSessionScreenIsLocked"] boolValue];
		int shown = [session[@"kCGSSessionOnConsoleKey"] boolValue];
		return locked | (shown ? 0 : 2);
	}
}

void CSWatchScreen(void) {
	dispatch_async(dispatch_get_main_queue(), ^{
		NSNotificationCenter *all = NSDistributedNotificationCenter.defaultCenter;
		NSNotificationCenter *here = NSWorkspace.sharedWorkspace.notificationCenter;
		void (^hear)(NSNotificationCenter *, NSString *, int) = ^(NSNotificationCenter *center, NSString *name, int what) {
			[center addObserverForName:name object:nil queue:nil usingBlock:^(NSNotification *note) {
				CSScreenHeard(what);
			}];
		};
		hear(all, @"com.apple.screenIsLocked", 0);
		hear(all, @"com.apple.screenIsUnlocked", 1);
		hear(here, NSWorkspaceSessionDidResignActiveNotification, 2);
		hear(here, NSWorkspaceSessionDidBecomeActiveNotification, 3);
		hear(here, NSWorkspaceWillSleepNotification, 4);
		hear(here, NSWorkspaceDidWakeNotification, 5);
	});
}
