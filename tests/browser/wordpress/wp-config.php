<?php
/* As a website has it; the values are those of the test. */
define( 'DB_NAME', 'wordpress' );
define( 'DB_USER', 'root' );
define( 'DB_PASSWORD', '' );
define( 'DB_HOST', 'localhost:' . getenv( 'WORDPRESS_SOCKET' ) );
define( 'DB_CHARSET', 'utf8mb4' );
define( 'DB_COLLATE', '' );
foreach ( array( 'AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE' ) as $name ) {
    define( $name . '_KEY', hash( 'sha256', $name . ABSPATH ) );
    define( $name . '_SALT', hash( 'sha256', ABSPATH . $name ) );
}
define( 'WP_SITEURL', getenv( 'WORDPRESS_URL' ) );
define( 'WP_HOME', WP_SITEURL );
define( 'WP_CONTENT_DIR', ABSPATH . 'wp-content' );
define( 'WP_ENVIRONMENT_TYPE', 'local' ); /* Application passwords without TLS. */
define( 'WP_HTTP_BLOCK_EXTERNAL', true );
define( 'WP_ACCESSIBLE_HOSTS', '127.0.0.1' );
define( 'DISABLE_WP_CRON', true ); /* Its clock is the test's. */
define( 'CARREL_URL', getenv( 'CARREL_URL' ) );
define( 'CARREL_PLUGIN_SECRET', getenv( 'CARREL_PLUGIN_SECRET' ) );
$table_prefix = 'wp_';
require_once ABSPATH . 'wp-settings.php';
