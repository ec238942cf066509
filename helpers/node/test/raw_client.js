'use strict';

const assert = require('node:assert/strict');
const net = require('node:net');

/** Sends requests that are given in hex, each on a connection of its own. */
class RawClient {
  constructor(address) {
    const [host, port] = address.split(':');
    Object.assign(this, { host, port: Number(port), held: [] });
  }

  /** Sends a request, and does not wait for its answer. */
  hold(frame) {
    const socket = net.connect(this.port, this.host);
    socket.on('error', () => {});
    socket.write(Buffer.from(frame, 'hex'));
    this.held.push(socket);
    return socket;
  }

  /** Sends a request until its answer has no error at this offset; 0 takes any answer. */
  async ask(frame, errorAt) {
    for (;;) {
      const answer = await answered(this.hold(frame));
      if (errorAt === 0 || answer.readInt16BE(4 + errorAt) === 0) return;
    }
  }

  close() {
    for (const each of this.held) each.destroy();
  }
}

/** The frame of the answer, with its size. */
async function answered(socket) {
  let found = Buffer.alloc(0);
  for await (const part of socket) {
    found = Buffer.concat([found, part]);
    if (found.length >= 4 && found.length >= 4 + found.readInt32BE(0)) break;
  }
  return found;
}

/** Compares two values as texts. */
function same(expected, actual) {
  assert.equal(String(actual), String(expected));
}

module.exports = { RawClient, same };
