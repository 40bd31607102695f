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

void CSSettle(void) {
	dispatch_async(dispatch_get_main_queue(), ^{
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
