#import <Foundation/Foundation.h>
#import <ServiceManagement/ServiceManagement.h>

#include "login_darwin.h"

int CSLoginItemStatus(void) {
	@autoreleasepool {
		return (int)SMAppService.mainAppService.status;
	}
}

int CSLoginItemSet(int on) {
	@autoreleasepool {
		NSError *error = nil;
		SMAppService *item = SMAppService.mainAppService;
		return on ? [item registerAndReturnError:&error] : [item unregisterAndReturnError:&error];
	}
}
