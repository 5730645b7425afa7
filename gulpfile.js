const esbuild = require('esbuild');
const { dest, parallel, series, src, watch } = require('gulp');
const { spawn } = require('node:child_process');
const { Transform } = require('node:stream');
const { rimraf } = require('rimraf');
const manifest = require('./package.json');

const ICONS = 'nodes/**/*.svg';
const CODEX = 'nodes/**/*.node.json';
/** What the editor shows of an output before the node has run. */
const PREVIEWS = 'nodes/**/__schema__/**/*.json';

/** The library behind vendor/qrCode.ts. */
const LIBRARY = '@juit/qrcode';

/** The address that stands in the sources until the public one, package.json's homepage, replaces it. */
const ADDRESS_IN_SOURCES = 'https://example.com/n8n-nodes-digital-sales';

/** Writes package.json's homepage wherever the sources name the project's address. */
function withHomepage() {
	return new Transform({
		objectMode: true,
		transform(file, _encoding, done) {
			const text = file.contents.toString().replaceAll(ADDRESS_IN_SOURCES, manifest.homepage);
			file.contents = Buffer.from(text);
			done(null, file);
		},
	});
}

const clean = () => rimraf('dist');

const compile = () => tsc();

const icons = () => src(ICONS, { base: '.', encoding: false }).pipe(dest('dist'));

const codex = () => src(CODEX, { base: '.' }).pipe(withHomepage()).pipe(dest('dist'));

const previews = () => src(PREVIEWS, { base: '.' }).pipe(dest('dist'));

const links = () =>
	src('dist/credentials/*.js', { base: '.' }).pipe(withHomepage()).pipe(dest('.'));

/** Nothing is installed beside the package, so the one library that it needs stands in it. */
const bundle = () =>
	esbuild.build({
		entryPoints: ['vendor/qrCode.ts'],
		outfile: 'dist/vendor/qrCode.js',
		bundle: true,
		platform: 'node',
		format: 'cjs',
		target: 'node20',
		banner: { js: `/* ${LIBRARY}: see LICENSE.md and NOTICE.md beside this file. */` },
	});

const licenses = () =>
	src(['LICENSE.md', 'NOTICE.md'], { cwd: `node_modules/${LIBRARY}` }).pipe(dest('dist/vendor'));

function tsc(...options) {
	const program = require.resolve('typescript/bin/tsc');
	return spawn(process.execPath, [program, '-p', 'tsconfig.build.json', ...options], {
		stdio: 'inherit',
	});
}

function watchAll() {
	watch(ICONS, icons);
	watch(CODEX, codex);
	watch(PREVIEWS, previews);
	return tsc('--watch', '--preserveWatchOutput');
}

exports.build = series(
	clean,
	parallel(series(compile, links, bundle), licenses, icons, codex, previews),
);
exports.dev = series(exports.build, watchAll);
exports.default = exports.build;
