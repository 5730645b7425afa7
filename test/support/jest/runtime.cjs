const { createRequire } = require('node:module');
const { default: Runtime } = require('jest-runtime');

/** The last script of each file: the wrapped source, and what the engine has made of it. */
const scripts = new Map();

/**
 * Loads what is installed once for a whole process: jest would load n8n's engine again for every
 * file of tests, which takes longer than most tests. Our own modules are loaded again for each, from
 * scripts that are compiled once.
 */
module.exports = class InstalledOnce extends Runtime {
	requireModuleOrMock(from, name) {
		const isOurs = name.startsWith('.') || name.startsWith('/') || name === '@jest/globals';
		return isOurs ? super.requireModuleOrMock(from, name) : createRequire(from)(name);
	}

	createScriptFromCode(source, file) {
		const known = scripts.get(file);
		if (known?.source === source) return known.script;
		const script = super.createScriptFromCode(source, file);
		scripts.set(file, { source, script });
		return script;
	}
};
