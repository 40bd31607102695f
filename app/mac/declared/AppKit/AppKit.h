#pragma once
#include <Foundation/Foundation.h>

typedef NS_OPTIONS(NSUInteger, NSWindowCollectionBehavior) { NSWindowCollectionBehaviorCanJoinAllSpaces = 1 << 0, NSWindowCollectionBehaviorFullScreenAuxiliary = 1 << 8 };

@interface NSWindow : NSObject
@property(readonly) NSString *className;
@property NSWindowCollectionBehavior collectionBehavior;
- (void)orderFrontRegardless;
@end

@interface NSApplication : NSObject
@property(readonly) NSArray<NSWindow *> *windows;
@end

extern NSApplication *NSApp;
