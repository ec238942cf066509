// Starts a kafkadouble for a test: `const kafka = await start({ brokers: 3 })`.
'use strict';

const { Client, Rule } = require('./client');
const { Double, start } = require('./double');
const errors = require('./errors');

/** A client for a kafkadouble that runs already, such as one in a container. */
function connect(url, { token } = {}) {
  return new Client(url, token);
}

module.exports = { Client, Double, Rule, connect, start, ...errors };
