const { createRequire } = require('node:module');
const { dirname } = require('node:path');
const { default: Runtime } = require('jest-runtime');

/** By file, the wrapped source and its compiled script. */
const scripts = new Map();

/** The installed modules, by the requiring folder and the module's name. */
const installed = new Map();

function requireInstalled(from, name) {
	const key = `${dirname(from)}\n${name}`;
	if (!installed.has(key)) installed.set(key, createRequire(from)(name));
	return installed.get(key);
}

const isInstalled = (name = '.') => !/^[./]/.test(name);

/**
 * Loads installed modules once per jest worker. Jest would load n8n's engine and its own runner again for each test
 * file, which takes longer than most tests, and no transform such as @swc/jest changes that. Our own modules are
 * loaded again for each file, from scripts that are compiled once.
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
