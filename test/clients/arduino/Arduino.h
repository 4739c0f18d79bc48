// What the guides' sketch needs of the ESP32's core, on this machine: the sketch is compiled and runs as a program.
#pragma once
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

class String {
  std::string text;

public:
  String(const char *from = "") : text(from) {}
  String(const std::string &from) : text(from) {}
  unsigned int length() const { return text.length(); }
  const char *c_str() const { return text.c_str(); }
  int indexOf(const char *what) const {
    auto at = text.find(what);
    return at == std::string::npos ? -1 : (int)at;
  }
  bool endsWith(const char *end) const {
    std::string wanted(end);
    return text.size() >= wanted.size() && text.compare(text.size() - wanted.size(), wanted.size(), wanted) == 0;
  }
  String substring(unsigned int from) const { return String(from > text.length() ? "" : text.substr(from)); }
  long toInt() const { return atol(text.c_str()); }
  String operator+(const char *more) const { return String(text + more); }
};

struct SerialPort {
  void begin(long) {}
  void printf(const char *format, ...) {
    va_list values;
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    fflush(stdout);
  }
};
inline SerialPort Serial;

inline void delay(unsigned long ms) { usleep(ms * 1000); }
inline long random(long below) { return rand() % below; }
