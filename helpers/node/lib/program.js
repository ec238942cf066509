// Where the program kafkadouble is.
'use strict';

const { accessSync, constants, statSync } = require('node:fs');
const { homedir } = require('node:os');
const { delimiter, join } = require('node:path');

const EXTRA = 'kafkadouble[control]';
const INSTALL =
  `install it with \`uv tool install '${EXTRA}'\` or \`pip install '${EXTRA}'\`, install uv, which then runs it, ` +
  'or give its path in the environment variable KAFKADOUBLE';

/**
 * The words that start the program, and where it was found; null if it was not. In this order: the
 * option `program`, the variable KAFKADOUBLE, the PATH, where `uv tool install` and `pipx install` put
 * programs, and at last uv's `uvx`, which gets and runs it without an installation.
 */
function found({ program }, environment = process.env, home = homedir(), windows = process.platform === 'win32') {
  if (program) return { words: [program], source: 'the option `program`' };
  const given = environment.KAFKADOUBLE;
  if (given) return { words: [given], source: 'the environment variable KAFKADOUBLE' };
  const own = join(home, '.local', 'bin');
  const folders = (environment.PATH ?? environment.Path ?? '').split(delimiter).filter(Boolean);
  const look = (name) => firstProgram([...folders, own], windows ? `${name}.exe` : name);
  const installed = look('kafkadouble');
  if (installed) return { words: [installed], source: 'the PATH' };
  const uvx = look('uvx');
  return uvx && { words: [uvx, '--from', EXTRA, 'kafkadouble'], source: 'uvx' };
}

function firstProgram(folders, name) {
  return folders.map((folder) => join(folder, name)).find(isProgram) ?? null;
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

module.exports = { found, INSTALL };
