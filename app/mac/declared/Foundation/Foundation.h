// What our Objective-C files use of macOS, as Apple declares it: with this they
// are checked on machines without Apple's headers. Nothing here is compiled.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef bool BOOL;
typedef unsigned char Boolean;
typedef long NSInteger;
typedef unsigned long NSUInteger;

#define NS_RETURNS_INNER_POINTER __attribute__((objc_returns_inner_pointer))
#define nil ((id)0)
#define YES __objc_yes
#define NO __objc_no
#define NS_ENUM(type, name) enum name : type name; enum name : type
#define NS_OPTIONS(type, name) enum name : type name; enum name : type

@protocol NSCopying
@end

__attribute__((objc_root_class)) @interface NSObject
+ (instancetype)new;
@end

@interface NSString : NSObject <NSCopying>
+ (instancetype)stringWithUTF8String:(const char *)text;
@property(readonly) const char *UTF8String;
- (BOOL)isEqualToString:(NSString *)other;
@end

@interface NSNumber : NSObject
+ (NSNumber *)numberWithBool:(BOOL)value;
@property(readonly) BOOL boolValue;
@end

@interface NSDictionary<K, V> : NSObject
- (V)objectForKeyedSubscript:(K)key;
+ (instancetype)dictionaryWithObjects:(const V[])objects forKeys:(const K[])keys count:(NSUInteger)count;
@end

@interface NSMutableDictionary<K, V> : NSDictionary
- (void)setObject:(V)object forKeyedSubscript:(K<NSCopying>)key;
- (V)objectForKeyedSubscript:(K)key;
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

@interface NSArray<T> : NSObject
+ (instancetype)arrayWithObjects:(const T[])objects count:(NSUInteger)count;
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState *)state objects:(id __unsafe_unretained[])objects count:(NSUInteger)count;
@end

@interface NSSet<T> : NSObject
+ (instancetype)setWithObject:(T)object;
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

@interface NSOperationQueue : NSObject
@end

@interface NSNotificationCenter : NSObject
- (id)addObserverForName:(NSString *)name object:(id)object queue:(NSOperationQueue *)queue usingBlock:(void (^)(NSNotification *note))block;
@end

@interface NSDistributedNotificationCenter : NSNotificationCenter
+ (NSDistributedNotificationCenter *)defaultCenter;
@end

@interface NSThread : NSObject
@property(class, readonly) BOOL isMainThread;
@end

typedef const struct AEDesc AEDesc;

@interface NSAppleEventDescriptor : NSObject
+ (NSAppleEventDescriptor *)descriptorWithBundleIdentifier:(NSString *)identifier;
@property(readonly) const AEDesc *aeDesc;
@end

typedef const void *CFTypeRef;
typedef const struct __CFString *CFStringRef;
typedef const struct __CFDictionary *CFDictionaryRef;
typedef int32_t OSStatus;
typedef uint32_t AEEventClass, AEEventID;

@interface NSAppleEventManager : NSObject
@property(class, readonly) NSAppleEventManager *sharedAppleEventManager;
- (void)setEventHandler:(id)handler andSelector:(SEL)handleEventSelector forEventClass:(AEEventClass)eventClass andEventID:(AEEventID)eventID;
@end

// dispatch/dispatch.h
typedef NSObject *dispatch_semaphore_t, *dispatch_queue_t;
typedef uint64_t dispatch_time_t;
#define DISPATCH_TIME_NOW 0ull
#define NSEC_PER_SEC 1000000000ull
enum { QOS_CLASS_USER_INITIATED = 0x19 };
dispatch_semaphore_t dispatch_semaphore_create(intptr_t value);
intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore);
intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t timeout);
dispatch_time_t dispatch_time(dispatch_time_t when, int64_t delta);
extern struct dispatch_queue_s _dispatch_main_q;
static inline dispatch_queue_t dispatch_get_main_queue(void) { return (__bridge dispatch_queue_t)&_dispatch_main_q; }
dispatch_queue_t dispatch_get_global_queue(intptr_t identifier, uintptr_t flags);
void dispatch_async(dispatch_queue_t queue, void (^block)(void));
void dispatch_sync(dispatch_queue_t queue, void (^block)(void));
typedef intptr_t dispatch_once_t;
void dispatch_once(dispatch_once_t *once, void (^block)(void));
