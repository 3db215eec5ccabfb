// What a library in C++ does when memory ends: it throws, and nobody in C can catch that.

#include <new>

extern "C" void call_without_memory(void (*handler)(void));

/// `handler` is called before operator new(3) fails, and does not return.
void call_without_memory(void (*handler)(void)) { std::set_new_handler(handler); }
