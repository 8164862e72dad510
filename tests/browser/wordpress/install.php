<?php
/* Installs WordPress into an empty database and switches the plugin on; run by site.py. */
define( 'WP_INSTALLING', true );
require ABSPATH . 'wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
require_once ABSPATH . 'wp-admin/includes/plugin.php';

wp_install( 'Reading room', 'admin', 'admin@example.org', false, '', 'the password of the administrator' );
update_option( 'users_can_register', 1 );
foreach ( array( 'ada', 'bea', 'cleo', 'dora', 'emma', 'fay', 'gwen', 'hana' ) as $name ) {
    wp_create_user( $name, "first of $name", "$name@example.org" );
}
$failed = activate_plugin( 'carrel/carrel.php' );
if ( is_wp_error( $failed ) ) {
    echo $failed->get_error_message();
    exit( 1 );
}
