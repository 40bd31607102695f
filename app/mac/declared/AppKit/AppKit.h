#pragma once
#include <Foundation/Foundation.h>

typedef NS_OPTIONS(NSUInteger, NSWindowCollectionBehavior) { NSWindowCollectionBehaviorDefault = 0, NSWindowCollectionBehaviorCanJoinAllSpaces = 1 << 0, NSWindowCollectionBehaviorFullScreenAuxiliary = 1 << 8 };

typedef NS_OPTIONS(NSUInteger, NSWindowOcclusionState) { NSWindowOcclusionStateVisible = 1 << 1 };

@interface NSWindow : NSObject
@property(readonly) NSString *className;
@property NSWindowCollectionBehavior collectionBehavior;
@property(readonly, getter=isVisible) BOOL visible;
@property(readonly) NSWindowOcclusionState occlusionState;
- (void)orderFrontRegardless;
- (void)makeKeyAndOrderFront:(id)sender;
@end

@interface NSApplication : NSObject
@property(readonly) NSArray<NSWindow *> *windows;
- (void)activateIgnoringOtherApps:(BOOL)ignore;
@end

@interface NSWorkspace : NSObject
@property(class, readonly) NSWorkspace *sharedWorkspace;
@property(readonly) NSNotificationCenter *notificationCenter;
@end

extern NSString *const NSWorkspaceSessionDidResignActiveNotification, *const NSWorkspaceSessionDidBecomeActiveNotification;
extern NSString *const NSWorkspaceWillSleepNotification, *const NSWorkspaceDidWakeNotification;

extern NSApplication *NSApp;
