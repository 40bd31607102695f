#pragma once
#include <Foundation/Foundation.h>

typedef NS_OPTIONS(NSUInteger, NSWindowCollectionBehavior) { NSWindowCollectionBehaviorDefault SINCE(10.5) = 0, NSWindowCollectionBehaviorCanJoinAllSpaces SINCE(10.5) = 1 << 0, NSWindowCollectionBehaviorFullScreenAuxiliary SINCE(10.7) = 1 << 8 };

typedef NS_OPTIONS(NSUInteger, NSWindowOcclusionState) { NSWindowOcclusionStateVisible = 1 << 1 } SINCE(10.9);

@interface NSResponder : NSObject
@end

@interface NSWindow : NSResponder
@property NSWindowCollectionBehavior collectionBehavior SINCE(10.5);
@property(readonly, getter=isVisible) BOOL visible;
@property(readonly) NSWindowOcclusionState occlusionState SINCE(10.9);
- (void)orderFrontRegardless;
- (void)makeKeyAndOrderFront:(id)sender;
@end

typedef NS_ENUM(NSInteger, NSApplicationActivationPolicy) { NSApplicationActivationPolicyRegular, NSApplicationActivationPolicyAccessory };

@interface NSApplication : NSResponder
@property(class, readonly) __kindof NSApplication *sharedApplication;
@property(readonly) NSArray<NSWindow *> *windows;
@property(readonly, getter=isActive) BOOL active;
@property(readonly, getter=isHidden) BOOL hidden;
- (void)hide:(id)sender;
- (void)unhideWithoutActivation;
- (void)activate SINCE(14.0);
- (void)activateIgnoringOtherApps:(BOOL)ignore SINCE(10.0);
- (BOOL)setActivationPolicy:(NSApplicationActivationPolicy)policy SINCE(10.6);
@end

extern NSString *NSApplicationWillFinishLaunchingNotification, *NSApplicationDidFinishLaunchingNotification, *NSApplicationDidBecomeActiveNotification;

typedef NSInteger NSModalResponse;

@interface NSAlert : NSObject
@property(copy) NSString *messageText, *informativeText;
- (NSModalResponse)runModal;
@end

@interface NSWorkspace : NSObject
@property(class, readonly) NSWorkspace *sharedWorkspace;
@property(readonly) NSNotificationCenter *notificationCenter;
@end

extern NSString *NSWorkspaceSessionDidResignActiveNotification, *NSWorkspaceSessionDidBecomeActiveNotification;
extern NSString *NSWorkspaceWillSleepNotification, *NSWorkspaceDidWakeNotification;

extern __kindof NSApplication *NSApp;

#include "NSStatusItem.h"
