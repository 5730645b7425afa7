const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const { version } = require('esbuild/package.json');

const itself = readFileSync(module.filename, 'utf8');

/** Compiles our TypeScript for jest, without checking types. Tests cannot spy on what a module exports. */
module.exports = {
	process(source, fileName) {
		// Loaded here because jest's cache has most files already compiled.
		const { transformSync } = require('esbuild');
		const { code, map } = transformSync(source, {
			loader: 'ts',
			format: 'cjs',
			target: 'es2022',
			// Jest runs no `import()`.
			supported: { 'dynamic-import': false },
			sourcemap: true,
			sourcefile: fileName,
		});
		// As text, the map would be ignored by the coverage.
		return { code, map: JSON.parse(map) };
	},

	/** Jest's own key does not change with this file. */
	getCacheKey(source, fileName, { instrument }) {
		const parts = [itself, version, fileName, instrument, source];
		return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
	},
};
