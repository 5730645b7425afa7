const { createRequire } = require('node:module');
const { default: Runtime } = require('jest-runtime');

/**
 * Loads what is installed once for a whole process: jest would load n8n's engine again for every
 * mutant. Our own modules are still loaded again for each.
 */
module.exports = class LastingPackages extends Runtime {
	requireModuleOrMock(from, name) {
		const isOurs = name.startsWith('.') || name.startsWith('/') || name === '@jest/globals';
		return isOurs ? super.requireModuleOrMock(from, name) : createRequire(from)(name);
	}
};
