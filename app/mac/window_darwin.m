#import <AppKit/AppKit.h>

#include "text_darwin.h"
#include "window_darwin.h"

// window is that of the page. It is for the main queue.
static NSWindow *window(void) {
	for (NSWindow *one in NSApp.windows)
		if ([one.className isEqualToString:@"WailsWindow"])
			return one;
	return nil;
}

// unhide undoes what CSGiveBack did.
static void unhide(void) {
	if (NSApp.hidden)
		[NSApp unhideWithoutActivation];
}

static void activate(void) {
	if (@available(macOS 14, *))
		[NSApp activate];
	else
		[NSApp activateIgnoringOtherApps:YES];
}

// patience is how long macOS has to make the app the active one.
static const int64_t patience = 200; // milliseconds

void CSOrderFront(void) {
	dispatch_async(dispatch_get_main_queue(), ^{
		unhide();
		window().collectionBehavior = NSWindowCollectionBehaviorCanJoinAllSpaces | NSWindowCollectionBehaviorFullScreenAuxiliary;
		[window() orderFrontRegardless];
	});
}

void CSTakeKeyboard(void) {
	dispatch_async(dispatch_get_main_queue(), ^{
		unhide();
		activate();
		[window() makeKeyAndOrderFront:nil];
		// From macOS 14 on this is a request, which an app without a place in the
		// Dock is refused at times. It has one then for as long as the window is seen.
		dispatch_after(dispatch_time(DISPATCH_TIME_NOW, patience * (int64_t)NSEC_PER_MSEC), dispatch_get_main_queue(), ^{
			if (NSApp.active || !window().visible)
				return;
			[NSApp setActivationPolicy:NSApplicationActivationPolicyRegular];
			activate();
			[window() makeKeyAndOrderFront:nil];
		});
	});
}

// giveBack is for the main queue.
static void giveBack(void) {
	if (window().visible)
		return;
	[NSApp setActivationPolicy:NSApplicationActivationPolicyAccessory];
	if (NSApp.active)
		[NSApp hide:nil];
}

void CSGiveBack(void) {
	dispatch_async(dispatch_get_main_queue(), ^{
		giveBack();
	});
}

void CSLiveInMenuBar(void) {
	@autoreleasepool {
		[NSApplication sharedApplication];
		void (^whenever)(NSString *, void (^)(void)) = ^(NSString *name, void (^act)(void)) {
			[NSNotificationCenter.defaultCenter addObserverForName:name object:nil queue:nil usingBlock:^(NSNotification *note) {
				dispatch_async(dispatch_get_main_queue(), act);
			}];
		};
		// Wails gives the app a place in the Dock as soon as it is asked, and makes it
		// the active one when it runs.
		void (^leaveDock)(void) = ^{
			[NSApp setActivationPolicy:NSApplicationActivationPolicyAccessory];
		};
		whenever(NSApplicationWillFinishLaunchingNotification, leaveDock);
		whenever(NSApplicationDidFinishLaunchingNotification, leaveDock);
		whenever(NSApplicationDidBecomeActiveNotification, ^{
			giveBack();
		});
	}
}

void CSStayAwake(int awake) {
	dispatch_async(dispatch_get_main_queue(), ^{
		static id<NSObject> activity;
		if (awake && activity == nil)
			activity = [NSProcessInfo.processInfo beginActivityWithOptions:NSActivityUserInitiatedAllowingIdleSystemSleep reason:@"A command waits or runs"];
		if (!awake && activity != nil) {
			[NSProcessInfo.processInfo endActivity:activity];
			activity = nil;
		}
	});
}

void CSAlert(const char *title, const char *message) {
	@autoreleasepool {
		[NSApplication sharedApplication];
		[NSApp setActivationPolicy:NSApplicationActivationPolicyAccessory];
		NSAlert *alert = [NSAlert new];
		alert.messageText = text(title);
		alert.informativeText = text(message);
		[NSApp activateIgnoringOtherApps:YES];
		[alert runModal];
	}
}

void CSSettle(void) {
	dispatch_async(dispatch_get_main_queue(), ^{
		unhide();
		window().collectionBehavior = NSWindowCollectionBehaviorDefault;
	});
}

int CSInView(void) {
	__block int seen = -1;
	dispatch_semaphore_t told = dispatch_semaphore_create(0);
	dispatch_async(dispatch_get_main_queue(), ^{
		seen = window().visible && (window().occlusionState & NSWindowOcclusionStateVisible) != 0;
		dispatch_semaphore_signal(told);
	});
	if (dispatch_semaphore_wait(told, dispatch_time(DISPATCH_TIME_NOW, NSEC_PER_SEC / 4)) != 0)
		return -1;
	return seen;
}
