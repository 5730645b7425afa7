/**
 * Compiles our TypeScript for jest, without checking types. The package has the compiler anyway, and its output
 * needs no rewriting: with esbuild and with @swc/jest, tests cannot spy on what a module exports.
 */
module.exports = {
	process(source, fileName) {
		// Loaded here because jest's cache has most files already compiled.
		const { ModuleKind, ScriptTarget, transpileModule } = require('typescript');
		const compilerOptions = {
			module: ModuleKind.CommonJS,
			target: ScriptTarget.ES2022,
			esModuleInterop: true,
			// Otherwise coverage counts the branches of helper functions in each file.
			importHelpers: true,
			sourceMap: true,
		};
		const { outputText, sourceMapText } = transpileModule(source, { fileName, compilerOptions });
		return { code: outputText, map: sourceMapText };
	},
};
