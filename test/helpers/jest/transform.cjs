const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const { transformSync } = require('esbuild');

const OWN_TEXT = readFileSync(require.resolve('./transform.cjs'), 'utf8');

/** What esbuild adds to a module is no branch of ours. */
const OF_ESBUILD = /^(var __|__export\(|module\.exports = __)/gm;

/**
 * TypeScript without its types, by esbuild: the compiler takes ten times as long. As with the compiler,
 * tests can spy on what a module exports.
 */
module.exports = {
	getCacheKey: (source, file, { configString, instrument }) =>
		createHash('sha256')
			.update(JSON.stringify([source, file, configString, instrument, OWN_TEXT]))
			.digest('hex'),

	process(source, file) {
		const { code, map } = transformSync(source, {
			loader: 'ts',
			format: 'cjs',
			target: 'node20',
			supported: { 'dynamic-import': false },
			sourcefile: file,
			sourcemap: 'external',
		});
		const spyable = code
			.replace('{ get: () => from[key], ', '{ get: () => from[key], configurable: true, ')
			.replace(
				'var __toESM = (mod, isNodeMode, target) => (',
				'var __toESM = (mod, isNodeMode, target) => mod?.__esModule ? mod : (',
			);
		return { code: spyable.replace(OF_ESBUILD, '/* istanbul ignore next */ $&'), map };
	},
};
