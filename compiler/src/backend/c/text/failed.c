/* What happens where a kernel can't go on: define it otherwise before this text to do something else; it must not return. */
#ifndef SPC_STOP
#define SPC_STOP(why) (fprintf(stderr, "%s\n", why), abort())
#endif
