'use strict';

const { start } = require('../..');

start().then((kafka) => console.log(kafka.brokers[0]));
setInterval(() => {}, 1000);
