'use strict';

const net = require('node:net');
const { start } = require('../..');

start().then((kafka) =>
  kafka.reporting(async () => {
    const [host, port] = kafka.brokers[0].split(':');
    const socket = net.connect(Number(port), host);
    socket.write(Buffer.from('\x00\x00\x00\x11\x00\x12\x00\x00\x00\x00\x00\x01\x00\x07by-hand', 'latin1'));
    await new Promise((resolve) => socket.once('data', resolve));
    socket.destroy();
    throw new Error('on purpose');
  }),
);
