#include "ExecutorTestSupport.h"
