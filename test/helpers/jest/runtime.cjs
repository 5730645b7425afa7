const { createRequire } = require('node:module');
const { dirname } = require('node:path');
const { default: Runtime } = require('jest-runtime');

/** The last script of each file: the wrapped source, and what the engine has made of it. */
const scripts = new Map();

/** What is installed, by the folder that asks for it and the name. */
const installed = new Map();

function requireInstalled(from, name) {
	const key = `${dirname(from)}\n${name}`;
	if (!installed.has(key)) installed.set(key, createRequire(from)(name));
	return installed.get(key);
}

const isInstalled = (name = '.') => !/^[./]/.test(name);

/**
 * Loads what is installed once for a whole process: jest would load n8n's engine, and what its own
 * runner is made of, again for every file of tests, which takes longer than most tests. Our own modules
 * are loaded again for each, from scripts that are compiled once.
 */
module.exports = class InstalledOnce extends Runtime {
	requireModuleOrMock(from, name) {
		const isShared = isInstalled(name) && name !== '@jest/globals';
		return isShared ? requireInstalled(from, name) : super.requireModuleOrMock(from, name);
	}

	requireInternalModule(from, name) {
		return isInstalled(name)
			? requireInstalled(from, name)
			: super.requireInternalModule(from, name);
	}

	createScriptFromCode(source, file) {
		const known = scripts.get(file);
		if (known?.source === source) return known.script;
		const script = super.createScriptFromCode(source, file);
		scripts.set(file, { source, script });
		return script;
	}
};
