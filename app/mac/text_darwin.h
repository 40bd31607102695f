#import <Foundation/Foundation.h>

// text is a text of C, empty where it is not UTF-8: where a text is wanted, nil
// would raise.
static inline NSString *text(const char *utf8) {
	NSString *s = [NSString stringWithUTF8String:utf8];
	return s != nil ? s : @"";
}
