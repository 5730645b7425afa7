/**
 * The built package as one module, for tools and tests. n8n does not load this file: it reads the
 * lists in package.json.
 */
const { DigitalSalesApi } = require('./dist/credentials/DigitalSalesApi.credentials.js');
const { DigitalSales } = require('./dist/nodes/DigitalSales/DigitalSales.node.js');
const { DigitalSalesTrigger } = require('./dist/nodes/DigitalSales/DigitalSalesTrigger.node.js');

module.exports = { DigitalSales, DigitalSalesApi, DigitalSalesTrigger };
