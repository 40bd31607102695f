#import <AppKit/AppKit.h>

#include "window_darwin.h"

void CSOrderFront(void) {
	dispatch_async(dispatch_get_main_queue(), ^{
		for (NSWindow *window in NSApp.windows) {
			if (![window.className isEqualToString:@"WailsWindow"])
				continue;
			window.collectionBehavior = NSWindowCollectionBehaviorCanJoinAllSpaces | NSWindowCollectionBehaviorFullScreenAuxiliary;
			[window orderFrontRegardless];
		}
	});
}
