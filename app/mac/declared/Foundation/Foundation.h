// What our Objective-C files use of macOS, as Apple declares it: with this they
// are checked on machines without Apple's headers. No build uses it. "make
// mac-headers" compared it with the SDK of macOS 14.2, and what that copy lacked
// (Contacts, EventKit, LocalAuthentication, Photos, ServiceManagement and
// UserNotifications) with that of 12.0; AVCaptureDevice, SMAppService and what
// is since 14.0 with single headers. Whether something may be nil is not said.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// From which macOS on something is there, and from which on another is better.
#define SINCE(version) __attribute__((availability(macos, introduced = version)))
#define FROM_TO(first, last) __attribute__((availability(macos, introduced = first, deprecated = last)))

#if __arm64__
typedef bool BOOL;
#else
typedef signed char BOOL;
#endif
typedef unsigned char Boolean;
typedef long NSInteger;
typedef unsigned long NSUInteger;
typedef double CGFloat;

#define NS_RETURNS_INNER_POINTER __attribute__((objc_returns_inner_pointer))
#define nil ((id)0)
#define YES __objc_yes
#define NO __objc_no
#define NS_ENUM(type, name) enum name : type name; enum name : type
#define NS_OPTIONS(type, name) enum name : type name; enum name : type

@protocol NSObject
@end

@protocol NSCopying
@end

@class NSString;

__attribute__((objc_root_class)) @interface NSObject <NSObject>
+ (instancetype)new SINCE(10.0);
+ (instancetype)alloc SINCE(10.0);
@property(readonly) NSString *className;
@end

@interface NSString : NSObject <NSCopying>
+ (instancetype)stringWithUTF8String:(const char *)text;
@property(readonly) const char *UTF8String;
- (BOOL)isEqualToString:(NSString *)other;
@end

@interface NSValue : NSObject
@end

@interface NSNumber : NSValue
+ (NSNumber *)numberWithBool:(BOOL)value;
@property(readonly) BOOL boolValue;
@end

@interface NSDictionary<KeyType, ObjectType> : NSObject
- (ObjectType)objectForKeyedSubscript:(KeyType)key SINCE(10.8);
+ (instancetype)dictionaryWithObjects:(const ObjectType[])objects forKeys:(const KeyType<NSCopying>[])keys count:(NSUInteger)count;
@end

@interface NSMutableDictionary<KeyType, ObjectType> : NSDictionary <KeyType, ObjectType>
- (void)setObject:(ObjectType)object forKeyedSubscript:(KeyType<NSCopying>)key SINCE(10.8);
@end

@interface NSData : NSObject
+ (instancetype)dataWithBytes:(const void *)bytes length:(NSUInteger)length;
@property(readonly) NSUInteger length;
@property(readonly) const void *bytes NS_RETURNS_INNER_POINTER;
@end

typedef struct {
	unsigned long state;
	id __unsafe_unretained *itemsPtr;
	unsigned long *mutationsPtr;
	unsigned long extra[5];
} NSFastEnumerationState;

@interface NSArray<ObjectType> : NSObject
+ (instancetype)arrayWithObjects:(const ObjectType[])objects count:(NSUInteger)count;
@property(readonly) ObjectType lastObject;
- (ObjectType)objectAtIndexedSubscript:(NSUInteger)index SINCE(10.8);
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState *)state objects:(id __unsafe_unretained[])objects count:(NSUInteger)count;
@end

@interface NSMutableArray<ObjectType> : NSArray <ObjectType>
- (void)addObject:(ObjectType)object;
- (void)removeAllObjects;
@end

typedef struct CGSize {
	CGFloat width, height;
} CGSize;
typedef CGSize NSSize;
static inline NSSize NSMakeSize(CGFloat width, CGFloat height) {
	NSSize size = {width, height};
	return size;
}

@interface NSSet<ObjectType> : NSObject
+ (instancetype)setWithObject:(ObjectType)object;
@end

@interface NSError : NSObject
@property(readonly) NSInteger code;
@end

@interface NSBundle : NSObject
@property(class, readonly) NSBundle *mainBundle;
@property(readonly) NSString *bundleIdentifier;
@end

@interface NSNotification : NSObject
@end

SINCE(10.5) @interface NSOperationQueue : NSObject
@end

@interface NSNotificationCenter : NSObject
@property(class, readonly, strong) NSNotificationCenter *defaultCenter;
- (id<NSObject>)addObserverForName:(NSString *)name object:(id)object queue:(NSOperationQueue *)queue usingBlock:(void (^)(NSNotification *note))block SINCE(10.6);
@end

@interface NSDistributedNotificationCenter : NSNotificationCenter
+ (NSDistributedNotificationCenter *)defaultCenter;
@end

@interface NSThread : NSObject
@property(class, readonly) BOOL isMainThread SINCE(10.5);
@end

typedef NSString *NSRunLoopMode;
extern NSRunLoopMode const NSDefaultRunLoopMode;

@interface NSRunLoop : NSObject
@property(class, readonly, strong) NSRunLoop *mainRunLoop SINCE(10.5);
- (void)performInModes:(NSArray<NSRunLoopMode> *)modes block:(void (^)(void))block SINCE(10.12);
@end

typedef NS_OPTIONS(uint64_t, NSActivityOptions) { NSActivityUserInitiatedAllowingIdleSystemSleep = 0x00EFFFFFull } SINCE(10.9);

@interface NSProcessInfo : NSObject
@property(class, readonly, strong) NSProcessInfo *processInfo;
- (void)endActivity:(id<NSObject>)activity SINCE(10.9);
- (id<NSObject>)beginActivityWithOptions:(NSActivityOptions)options reason:(NSString *)reason SINCE(10.9);
@end

typedef struct AEDesc AEDesc;

@interface NSAppleEventDescriptor : NSObject
+ (NSAppleEventDescriptor *)descriptorWithBundleIdentifier:(NSString *)identifier SINCE(10.11);
@property(readonly) const AEDesc *aeDesc;
@end

typedef const void *CFTypeRef;
typedef const struct __CFString *CFStringRef;
typedef const struct __CFDictionary *CFDictionaryRef;
typedef int32_t OSStatus;
typedef uint32_t AEEventClass, AEEventID;

@interface NSAppleEventManager : NSObject
+ (NSAppleEventManager *)sharedAppleEventManager;
- (void)setEventHandler:(id)handler andSelector:(SEL)handleEventSelector forEventClass:(AEEventClass)eventClass andEventID:(AEEventID)eventID;
@end

// dispatch/dispatch.h
@protocol OS_dispatch_semaphore
@end
@protocol OS_dispatch_queue
@end
@protocol OS_dispatch_queue_main <OS_dispatch_queue>
@end
@protocol OS_dispatch_queue_global <OS_dispatch_queue>
@end
typedef NSObject<OS_dispatch_semaphore> *dispatch_semaphore_t;
typedef NSObject<OS_dispatch_queue> *dispatch_queue_t;
typedef NSObject<OS_dispatch_queue_main> *dispatch_queue_main_t;
typedef NSObject<OS_dispatch_queue_global> *dispatch_queue_global_t;
typedef uint64_t dispatch_time_t;
typedef void (^dispatch_block_t)(void);
typedef intptr_t dispatch_once_t;
#define DISPATCH_TIME_NOW 0ull
#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull
#define NOESCAPE __attribute__((noescape))
enum : unsigned { QOS_CLASS_USER_INITIATED SINCE(10.10) = 0x19 };
dispatch_semaphore_t dispatch_semaphore_create(intptr_t value) SINCE(10.6) __attribute__((ns_returns_retained));
intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore) SINCE(10.6);
intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t timeout) SINCE(10.6);
dispatch_time_t dispatch_time(dispatch_time_t when, int64_t delta) SINCE(10.6);
extern struct dispatch_queue_s _dispatch_main_q SINCE(10.6);
static inline dispatch_queue_main_t dispatch_get_main_queue(void) { return (__bridge dispatch_queue_main_t)&_dispatch_main_q; }
dispatch_queue_global_t dispatch_get_global_queue(intptr_t identifier, uintptr_t flags) SINCE(10.6);
void dispatch_after(dispatch_time_t when, dispatch_queue_t queue, dispatch_block_t block) SINCE(10.6);
void dispatch_async(dispatch_queue_t queue, dispatch_block_t block) SINCE(10.6);
void dispatch_sync(dispatch_queue_t queue, NOESCAPE dispatch_block_t block) SINCE(10.6);
void dispatch_once(dispatch_once_t *once, NOESCAPE dispatch_block_t block) SINCE(10.6);
