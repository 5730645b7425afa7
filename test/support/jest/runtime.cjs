const { createRequire } = require('node:module');
const { default: Runtime } = require('jest-runtime');

/**
 * Loads what is installed once for a whole process: jest would load n8n's engine again for every
 * file of tests, which takes longer than most tests. Our own modules are loaded again for each.
 */
module.exports = class InstalledOnce extends Runtime {
	requireModuleOrMock(from, name) {
		const isOurs = name.startsWith('.') || name.startsWith('/') || name === '@jest/globals';
		return isOurs ? super.requireModuleOrMock(from, name) : createRequire(from)(name);
	}
};
