// The ESP32's HTTPClient over this machine's sockets: GET over plain HTTP, with the same names and results.
#pragma once
#include "Arduino.h"
#include <arpa/inet.h>
#include <map>
#include <strings.h>
#include <sys/socket.h>

class HTTPClient {
  std::string host, path, sent, body;
  int port = 80, timeoutMs = 5000;
  std::map<std::string, std::string> collected;

public:
  void setTimeout(int ms) { timeoutMs = ms; }
  bool begin(const String &url) {
    char name[64] = "", rest[512] = "/";
    if (sscanf(url.c_str(), "http://%63[^:/]:%d%511s", name, &port, rest) < 2) return false;
    host = name;
    path = rest;
    return true;
  }
  void addHeader(const String &name, const String &value) {
    sent += std::string(name.c_str()) + ": " + value.c_str() + "\r\n";
  }
  void collectHeaders(const char *names[], size_t count) {
    for (size_t i = 0; i < count; i++) collected[names[i]] = "";
  }
  // The status, or -1 if there is no answer.
  int GET() {
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    timeval limit{timeoutMs / 1000, 0};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    inet_pton(AF_INET, host.c_str(), &to.sin_addr);
    std::string answer, request =
        "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + sent + "\r\n";
    if (connect(connection, (sockaddr *)&to, sizeof to) == 0 &&
        send(connection, request.data(), request.size(), 0) == (ssize_t)request.size()) {
      char part[4096];
      for (ssize_t got; (got = recv(connection, part, sizeof part, 0)) > 0;) answer.append(part, got);
    }
    close(connection);
    int status = -1;
    if (sscanf(answer.c_str(), "HTTP/1.1 %d", &status) != 1) return -1;
    size_t head = answer.find("\r\n\r\n");
    body = answer.substr(head + 4);
    for (size_t at = answer.find("\r\n"); at < head; at = answer.find("\r\n", at + 2)) {
      size_t colon = answer.find(": ", at);
      std::string name = answer.substr(at + 2, colon - at - 2);
      for (auto &[wanted, value] : collected)
        if (strcasecmp(wanted.c_str(), name.c_str()) == 0)
          value = answer.substr(colon + 2, answer.find("\r\n", colon) - colon - 2);
    }
    return status;
  }
  String getString() { return String(body); }
  String header(const char *name) { return String(collected[name]); }
  void end() {}
};
