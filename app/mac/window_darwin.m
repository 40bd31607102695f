#import <AppKit/AppKit.h>

#include "window_darwin.h"

// window is that of the page. It is for the main queue.
static NSWindow *window(void) {
	for (NSWindow *one in NSApp.windows)
		if ([one.className isEqualToString:@"WailsWindow"])
			return one;
	return nil;
}

void CSOrderFront(void) {
	dispatch_async(dispatch_get_main_queue(), ^{
		window().collectionBehavior = NSWindowCollectionBehaviorCanJoinAllSpaces | NSWindowCollectionBehaviorFullScreenAuxiliary;
		[window() orderFrontRegardless];
	});
}

void CSTakeKeyboard(void) {
	dispatch_async(dispatch_get_main_queue(), ^{
		[NSApp activateIgnoringOtherApps:YES];
		[window() makeKeyAndOrderFront:nil];
	});
}

int CSInView(void) {
	__block int seen = 0;
	void (^look)(void) = ^{
		seen = window().visible && (window().occlusionState & NSWindowOcclusionStateVisible) != 0;
	};
	if (NSThread.isMainThread)
		look();
	else
		dispatch_sync(dispatch_get_main_queue(), look);
	return seen;
}
